-- Roles of a store in PostgreSQL, run by its owner after the first command that wrote to it:
--     psql -v reader=NAME -v writer=NAME -f postgres-roles.sql DATABASE
-- Readers see what was measured, writers add to it; neither changes the tables. Both roles exist (CREATE ROLE).
GRANT USAGE ON SCHEMA foretell TO :"reader", :"writer";
GRANT SELECT ON ALL TABLES IN SCHEMA foretell TO :"reader", :"writer";
GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA foretell TO :"writer";
REVOKE INSERT, UPDATE ON foretell.version FROM :"writer";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA foretell TO :"writer";
REVOKE EXECUTE ON FUNCTION foretell.refresh() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION foretell.refresh() TO :"writer";
ALTER DEFAULT PRIVILEGES IN SCHEMA foretell GRANT SELECT ON TABLES TO :"reader", :"writer";
ALTER DEFAULT PRIVILEGES IN SCHEMA foretell GRANT INSERT, UPDATE ON TABLES TO :"writer";
ALTER DEFAULT PRIVILEGES IN SCHEMA foretell GRANT USAGE ON SEQUENCES TO :"writer";

-- What dashboards read of a store in PostgreSQL, and a function that writers may call.
-- Conditions of a row are JSON of the measuring program, or whatever an import brought: they are searched, not parsed.
CREATE OR REPLACE VIEW measured AS
SELECT m.id, d.name AS device, s.name AS setting, substring(s.name from 'clock=([0-9.]+)MHz')::float8 AS clock_mhz,
       e.name AS engine, e.version AS engine_version, o.spec, m.phase, m.dtype_policy, m.metric, m.unit, m.value, m.error,
       m.n, m.calibration, m.conditions, to_timestamp(m.taken_at) AS taken_at, r.command, r.environment,
       substring(m.conditions from '"node": "([^"]*)"') AS node,
       substring(m.conditions from '"job": "([^"]*)"') AS job,
       substring(m.conditions from '"serial": "([^"]*)"') AS serial,
       substring(m.conditions from '"driver": "([^"]*)"') AS driver,
       substring(m.conditions from '"foretell": "([^"]*)"') AS foretell,
       substring(m.conditions from '"clock_hz": ([0-9.e+]+)')::float8 AS clock_hz,
       substring(m.conditions from '"temperature_max_k": ([0-9.e+]+)')::float8 - 273.15 AS temperature_c
FROM measurement m
JOIN device d ON d.id = m.device_id
JOIN setting s ON s.id = m.setting_id
JOIN engine e ON e.id = m.engine_id
JOIN operation o ON o.id = m.operation_id
JOIN run r ON r.id = m.run_id;

CREATE OR REPLACE VIEW coverage AS
SELECT device, clock_mhz, engine, engine_version, metric, count(*) AS measurements, count(DISTINCT spec) AS operations,
       min(taken_at) AS first_at, max(taken_at) AS last_at
FROM measured
GROUP BY device, clock_mhz, engine, engine_version, metric;

CREATE OR REPLACE VIEW nodes AS
SELECT device, node, serial, driver, foretell, count(*) AS measurements,
       count(*) FILTER (WHERE conditions LIKE '%"marks": ["%') AS disturbed,
       min(clock_hz) AS least_clock_hz, max(clock_hz) AS greatest_clock_hz, max(temperature_c) AS temperature_c,
       min(taken_at) AS first_at, max(taken_at) AS last_at
FROM measured
WHERE node IS NOT NULL
GROUP BY device, node, serial, driver, foretell;

-- Runs of explorations: a row a run and figure.
CREATE OR REPLACE VIEW explored AS
SELECT e.name AS exploration, t.workload, t.point, v.name AS figure, v.value, t.failure,
       substring(t.conditions from '"node": "([^"]*)"') AS node, to_timestamp(t.taken_at / 1e9) AS taken_at
FROM trial t
JOIN exploration e ON e.id = t.exploration_id
LEFT JOIN trial_value v ON v.trial_id = t.id;

CREATE OR REPLACE FUNCTION refresh() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = foretell, pg_temp
AS 'ANALYZE measurement; ANALYZE operation; ANALYZE reading';

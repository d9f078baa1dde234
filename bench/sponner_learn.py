def learn(): pass

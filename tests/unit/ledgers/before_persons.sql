BEGIN TRANSACTION;
CREATE TABLE gdppca_entries (
	number INTEGER NOT NULL,
	at VARCHAR(40) NOT NULL,
	dataset VARCHAR(200) NOT NULL,
	kind VARCHAR(20) NOT NULL,
	content TEXT NOT NULL,
	request_id VARCHAR(200),
	fingerprint VARCHAR(64),
	previous VARCHAR(64) NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (number)
);
INSERT INTO "gdppca_entries" VALUES(1,'2025-03-01T12:01:00.000000+00:00','','open','{"format":"1","ledger":"83fe2a887c66a3643db775ffbbffbf92","program":"gdppca"}',NULL,NULL,'0000000000000000000000000000000000000000000000000000000000000000','2230fc7e8d09e643ca88ec7e9e1d3c447551edea9173acc2841d5ff5c52a300d');
INSERT INTO "gdppca_entries" VALUES(2,'2025-03-01T12:02:00.000000+00:00','patients','create','{"cap":{"delta":1e-06,"epsilon":1.0},"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0}}',NULL,NULL,'2230fc7e8d09e643ca88ec7e9e1d3c447551edea9173acc2841d5ff5c52a300d','0e3c52b1a81bdcfef5b9c0d3e4afd39032cb0d54bbf16283c17922723b36138c');
INSERT INTO "gdppca_entries" VALUES(3,'2025-03-01T12:03:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":8.0,"purpose":"scatter"},{"epsilon":0.05,"kind":"pure","purpose":"quantile"}],"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.015625,"pure":[[0.05,1]],"unprotected":0}}','run-1',NULL,'0e3c52b1a81bdcfef5b9c0d3e4afd39032cb0d54bbf16283c17922723b36138c','04e17e55eb29ea67e01d8397f171c0c9634d6e6770374d789e04398764b1da7f');
INSERT INTO "gdppca_entries" VALUES(4,'2025-03-01T12:04:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":9.0,"purpose":"scatter"}],"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0}}',NULL,NULL,'04e17e55eb29ea67e01d8397f171c0c9634d6e6770374d789e04398764b1da7f','4e92c6df30e858df2e4a808654cb72bddc0d1123adcdb5109e5293bd594fb207');
INSERT INTO "gdppca_entries" VALUES(5,'2025-03-01T12:05:00.000000+00:00','staff','create','{"cap":{"delta":1e-06,"epsilon":2.0},"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0}}',NULL,NULL,'4e92c6df30e858df2e4a808654cb72bddc0d1123adcdb5109e5293bd594fb207','981a4b4ff31c7d229f46dfc5d3899e932e129e79463fce4f58b07221deecc514');
INSERT INTO "gdppca_entries" VALUES(6,'2025-03-01T12:06:00.000000+00:00','patients','grant','{"cap":{"delta":1e-06,"epsilon":1.5},"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0}}',NULL,NULL,'981a4b4ff31c7d229f46dfc5d3899e932e129e79463fce4f58b07221deecc514','9a5619c8fc1696d3b838008f8284c816d1391c1f9b848c058a370a49859fc2d9');
CREATE TABLE gdppca_ledger (
	name VARCHAR(40) NOT NULL,
	value TEXT,
	PRIMARY KEY (name)
);
INSERT INTO "gdppca_ledger" VALUES('program','gdppca');
INSERT INTO "gdppca_ledger" VALUES('format','1');
INSERT INTO "gdppca_ledger" VALUES('ledger','83fe2a887c66a3643db775ffbbffbf92');
INSERT INTO "gdppca_ledger" VALUES('key','0998ef02971146870269c6e73e2bb3e7392a62f363fceed2d791eb1633a56717');
CREATE UNIQUE INDEX gdppca_by_request ON gdppca_entries (dataset, request_id);
CREATE INDEX gdppca_by_dataset ON gdppca_entries (dataset, number);
CREATE INDEX gdppca_by_fingerprint ON gdppca_entries (fingerprint);
CREATE TRIGGER gdppca_ledger_no_UPDATE BEFORE UPDATE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_ledger_no_DELETE BEFORE DELETE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_UPDATE BEFORE UPDATE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_DELETE BEFORE DELETE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
COMMIT;

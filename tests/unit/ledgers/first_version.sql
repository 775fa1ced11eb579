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
INSERT INTO "gdppca_entries" VALUES(1,'2025-03-01T12:01:00.000000+00:00','','open','{"format":"1","ledger":"da86dd31ba24bef28d0a6a5400d7b096","program":"gdppca"}',NULL,NULL,'0000000000000000000000000000000000000000000000000000000000000000','ab9c94efcfa5b99579cad3bcf2dc3a2f32e889222a6a6f0cb5db7df3b124d2d2');
INSERT INTO "gdppca_entries" VALUES(2,'2025-03-01T12:02:00.000000+00:00','patients','create','{"cap":{"delta":1e-06,"epsilon":1.0},"neighbors":"replace-one","totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0}}',NULL,NULL,'ab9c94efcfa5b99579cad3bcf2dc3a2f32e889222a6a6f0cb5db7df3b124d2d2','9753a1dda90a7fd032f550186a9b3673ad436d4d958f0cbbd71b4ef50851921d');
INSERT INTO "gdppca_entries" VALUES(3,'2025-03-01T12:03:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":8.0,"purpose":"scatter"},{"epsilon":0.05,"kind":"pure","purpose":"quantile"}],"neighbors":"replace-one","totals":{"approximate":[0.0,0.0],"gaussian":0.015625,"pure":[[0.05,1]],"unprotected":0}}','run-1',NULL,'9753a1dda90a7fd032f550186a9b3673ad436d4d958f0cbbd71b4ef50851921d','53888cca8e0177be5e8ffe5c4d616dfbd63cbd88507c0096405acb4c9d1074c9');
INSERT INTO "gdppca_entries" VALUES(4,'2025-03-01T12:04:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":9.0,"purpose":"scatter"}],"neighbors":"replace-one","totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0}}',NULL,NULL,'53888cca8e0177be5e8ffe5c4d616dfbd63cbd88507c0096405acb4c9d1074c9','8e2edb1044cc369edea3a0d44f383db23b7296f712089ede53a5215fa0535fcc');
INSERT INTO "gdppca_entries" VALUES(5,'2025-03-01T12:05:00.000000+00:00','staff','create','{"cap":{"delta":1e-06,"epsilon":2.0},"neighbors":"replace-one","totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0}}',NULL,NULL,'8e2edb1044cc369edea3a0d44f383db23b7296f712089ede53a5215fa0535fcc','2a1213676675c1ed9a7aeaebc273bcc13b6a95e98270d5ee6da283df3fce34cf');
INSERT INTO "gdppca_entries" VALUES(6,'2025-03-01T12:06:00.000000+00:00','patients','grant','{"cap":{"delta":1e-06,"epsilon":1.5},"neighbors":"replace-one","totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0}}',NULL,NULL,'2a1213676675c1ed9a7aeaebc273bcc13b6a95e98270d5ee6da283df3fce34cf','2d3e497c2870534e8a9a1c79fda177120921cbd332c8c22c4b08cdf535af0eda');
CREATE TABLE gdppca_ledger (
	name VARCHAR(40) NOT NULL,
	value TEXT,
	PRIMARY KEY (name)
);
INSERT INTO "gdppca_ledger" VALUES('program','gdppca');
INSERT INTO "gdppca_ledger" VALUES('format','1');
INSERT INTO "gdppca_ledger" VALUES('ledger','da86dd31ba24bef28d0a6a5400d7b096');
INSERT INTO "gdppca_ledger" VALUES('key','2240fd83c88985edeb02b956d063f16e610752948803197d73b2f0c8ffac79b9');
CREATE INDEX gdppca_by_dataset ON gdppca_entries (dataset, number);
CREATE UNIQUE INDEX gdppca_by_request ON gdppca_entries (dataset, request_id);
CREATE INDEX gdppca_by_fingerprint ON gdppca_entries (fingerprint);
CREATE TRIGGER gdppca_ledger_no_UPDATE BEFORE UPDATE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_ledger_no_DELETE BEFORE DELETE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_UPDATE BEFORE UPDATE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_DELETE BEFORE DELETE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
COMMIT;

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
INSERT INTO "gdppca_entries" VALUES(1,'2025-06-01T12:01:00.000000+00:00','','open','{"format":"1","ledger":"40a8476102f6f7f8a0612827b629f087","program":"gdppca"}',NULL,NULL,'0000000000000000000000000000000000000000000000000000000000000000','3df0c65031c6b806d06e7177deb12befeaf385bf59bb9f25a41934fe20fb6ac1');
INSERT INTO "gdppca_entries" VALUES(2,'2025-06-01T12:02:00.000000+00:00','patients','create','{"cap":{"delta":1e-06,"epsilon":1.0},"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0},"unit":"row"}',NULL,NULL,'3df0c65031c6b806d06e7177deb12befeaf385bf59bb9f25a41934fe20fb6ac1','743b77afada3948c0b97a25082e47aba2aec35b16ca9704feb10bf2f9d74f222');
INSERT INTO "gdppca_entries" VALUES(3,'2025-06-01T12:03:00.000000+00:00','visits','create','{"cap":{"delta":1e-06,"epsilon":2.0,"neighbors":"add-remove","unit":"person"},"neighbors":"add-remove","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.0,"pure":[],"unprotected":0},"unit":"person"}',NULL,NULL,'743b77afada3948c0b97a25082e47aba2aec35b16ca9704feb10bf2f9d74f222','987e6c1f56ead628d7e50775dbbb06d1f7c7ecb99ddaad4b9dea9a8c5c547111');
INSERT INTO "gdppca_entries" VALUES(4,'2025-06-01T12:04:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":8.0,"purpose":"scatter"},{"epsilon":0.05,"kind":"pure","purpose":"quantile"}],"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.015625,"pure":[[0.05,1]],"unprotected":0},"unit":"row"}','run-1',NULL,'987e6c1f56ead628d7e50775dbbb06d1f7c7ecb99ddaad4b9dea9a8c5c547111','8e05bc0781f185cd54a3f8a101e88756b36779ba30f34d96d8693021b6d0d17c');
INSERT INTO "gdppca_entries" VALUES(5,'2025-06-01T12:05:00.000000+00:00','visits','spend','{"cap":{"delta":1e-06,"epsilon":2.0,"neighbors":"add-remove","unit":"person"},"events":[{"kind":"gaussian","noise_multiplier":6.0,"purpose":"fit"}],"neighbors":"add-remove","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.027777777777777776,"pure":[],"unprotected":0},"unit":"person"}',NULL,'3e7bd8886148577da575e212d5fe7fcb83766d6f8246dc022f20ce756277c35c','8e05bc0781f185cd54a3f8a101e88756b36779ba30f34d96d8693021b6d0d17c','93871378f52b820e40974f275dc64aa5a927eb6a2626eaddbb966dab5dde1004');
INSERT INTO "gdppca_entries" VALUES(6,'2025-06-01T12:06:00.000000+00:00','patients','spend','{"cap":{"delta":1e-06,"epsilon":1.0},"events":[{"kind":"gaussian","noise_multiplier":9.0,"purpose":"scatter"}],"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0},"unit":"row"}',NULL,NULL,'93871378f52b820e40974f275dc64aa5a927eb6a2626eaddbb966dab5dde1004','5058e91cb7efe305079db328107f23f2db83262d8632a46def74a93305da8f4d');
INSERT INTO "gdppca_entries" VALUES(7,'2025-06-01T12:07:00.000000+00:00','patients','grant','{"cap":{"delta":1e-06,"epsilon":1.5},"neighbors":"replace-one","rule":2,"totals":{"approximate":[0.0,0.0],"gaussian":0.02797067901234568,"pure":[[0.05,1]],"unprotected":0},"unit":"row"}',NULL,NULL,'5058e91cb7efe305079db328107f23f2db83262d8632a46def74a93305da8f4d','85e1cbb8bc8fba06b9c9b27f7e2230084ba03ed8e7e0e0f886e43e1614020864');
CREATE TABLE gdppca_ledger (
	name VARCHAR(40) NOT NULL, 
	value TEXT, 
	PRIMARY KEY (name)
);
INSERT INTO "gdppca_ledger" VALUES('program','gdppca');
INSERT INTO "gdppca_ledger" VALUES('format','1');
INSERT INTO "gdppca_ledger" VALUES('ledger','40a8476102f6f7f8a0612827b629f087');
INSERT INTO "gdppca_ledger" VALUES('key','f18f54cc4a50a46cfec5c193fd34d65903c0df8aad9aa8e4ef7262a33819f5d6');
CREATE INDEX gdppca_by_dataset ON gdppca_entries (dataset, number);
CREATE UNIQUE INDEX gdppca_by_request ON gdppca_entries (dataset, request_id);
CREATE INDEX gdppca_by_fingerprint ON gdppca_entries (fingerprint);
CREATE TRIGGER gdppca_ledger_no_UPDATE BEFORE UPDATE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_ledger_no_DELETE BEFORE DELETE ON gdppca_ledger BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_UPDATE BEFORE UPDATE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
CREATE TRIGGER gdppca_entries_no_DELETE BEFORE DELETE ON gdppca_entries BEGIN SELECT RAISE(ABORT, 'a gdppca ledger is append-only'); END;
COMMIT;

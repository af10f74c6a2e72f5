BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE keys (
	id VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	scopes VARCHAR(64) NOT NULL, 
	monthly_nano BIGINT, 
	requests_per_minute INTEGER, 
	tokens_per_minute BIGINT, 
	store_content BOOLEAN NOT NULL, 
	created_us BIGINT NOT NULL, 
	revoked_us BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (hash)
);
INSERT INTO "keys" VALUES('key_22264880405db40f','alice','27560cef74ce8e5cbf774a42f6b05203c4bdfb77fe7fbf5b6b1be8de3d6ab099','ask',5000000000,60,NULL,1,1795336363565836,NULL);
INSERT INTO "keys" VALUES('key_802b8edc1701c221','bob','526c6441e0eae6fbf42c6504f93f44373266ea18d6ff2e32c95822baaaf95428','ask',NULL,NULL,NULL,0,1795336368167859,NULL);
INSERT INTO "keys" VALUES('key_8ab4fbe8683650ee','root','c092e8613174ac4faee55fbdd17949e3fc454fc6d7f53ba0daac77e5faf2d47d','admin ask',NULL,NULL,NULL,1,1795336373620471,NULL);
CREATE TABLE leases (
	id VARCHAR(64) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	month INTEGER NOT NULL, 
	minute BIGINT NOT NULL, 
	replica VARCHAR(128) NOT NULL, 
	cap_nano BIGINT NOT NULL, 
	used_nano BIGINT NOT NULL, 
	in_flight_nano BIGINT NOT NULL, 
	tokens BIGINT NOT NULL, 
	beat_us BIGINT NOT NULL, 
	reaped_us BIGINT, 
	PRIMARY KEY (id), 
	FOREIGN KEY("key") REFERENCES keys (id)
);
CREATE TABLE minutes (
	"key" VARCHAR(64) NOT NULL, 
	minute BIGINT NOT NULL, 
	requests INTEGER NOT NULL, 
	tokens BIGINT NOT NULL, 
	PRIMARY KEY ("key"), 
	FOREIGN KEY("key") REFERENCES keys (id)
);
INSERT INTO "minutes" VALUES('key_22264880405db40f',29922273,3,42);
INSERT INTO "minutes" VALUES('key_802b8edc1701c221',29922273,1,14);
CREATE TABLE months (
	"key" VARCHAR(64) NOT NULL, 
	month INTEGER NOT NULL, 
	spent_nano BIGINT NOT NULL, 
	uncertain_nano BIGINT NOT NULL, 
	unpriced INTEGER NOT NULL, 
	PRIMARY KEY ("key", month), 
	FOREIGN KEY("key") REFERENCES keys (id)
);
INSERT INTO "months" VALUES('key_22264880405db40f',202611,39900,0,0);
INSERT INTO "months" VALUES('key_802b8edc1701c221',202611,19000,0,0);
CREATE TABLE paused (
	id VARCHAR(64) NOT NULL, 
	state TEXT NOT NULL, 
	expires_us BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "paused" VALUES('0fff159805e24d522904cd82c31af449eab58a5c506afc431358fa825a362d63','"{\"worker\":\"strong\",\"question\":[{\"role\":\"user\",\"content\":\"What time is it?\",\"tool_calls\":[],\"tool_call_id\":\"\"}],\"subtask\":\"Answer the question. Show your work, then give the final answer.\",\"visible\":[],\"turns\":[]}"',4102444800000000);
CREATE TABLE runs (
	id VARCHAR(64) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	model TEXT NOT NULL, 
	failure VARCHAR(64) NOT NULL, 
	created_us BIGINT NOT NULL, 
	day INTEGER NOT NULL, 
	cost_nano BIGINT, 
	searched TEXT NOT NULL, 
	record TEXT NOT NULL, 
	transcripts TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('run_b6f02c92739ee0a02199b498','key_22264880405db40f','podium','',1795336392770818,20779,19000,'what is 6 times 7?
it is 42.','{"id":"run_b6f02c92739ee0a02199b498","key":"key_22264880405db40f","model":"podium","created":"2026-11-22T08:33:12.770818Z","seconds":0.3417775769999025,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":"What is 6 times 7?","answer":"It is 42.","transcripts":[]}','{"question":[{"role":"user","content":"What is 6 times 7?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"model_id = [0]\nsubtasks = [\"Answer the question. Show your work, then give the final answer.\"]\naccess_list = [[]]","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false},"worker":"strong","completion":{"text":"It is 42.","finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"seconds":0.08106699999984812,"price_source":"pool file","tool_calls":[],"transcripts":[]},"failure":null,"start_seconds":1.9907000023522414e-05,"seconds":0.3410802989999411}],"answer":"It is 42.","failure":null,"seconds":0.34115025000005517}');
INSERT INTO "runs" VALUES('run_45d7639d6f153d623960d817','key_22264880405db40f','cheap','',1795336393239362,20779,1900,'why is the sky blue?
it is 42.','{"id":"run_45d7639d6f153d623960d817","key":"key_22264880405db40f","model":"cheap","created":"2026-11-22T08:33:13.239362Z","seconds":0.05098518099998728,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-06},"failure":"","steps":1,"workers":["cheap"],"question":"Why is the sky blue?","answer":"It is 42.","transcripts":[]}','{"question":[{"role":"user","content":"Why is the sky blue?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"","access":[],"last_answer":false},"worker":"cheap","completion":{"text":"It is 42.","finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-06},"seconds":0.021659759999920425,"price_source":"pool file","tool_calls":[],"transcripts":[]},"failure":null,"start_seconds":0.0,"seconds":0.05059996899990438}],"answer":"It is 42.","failure":null,"seconds":0.05059996899990438}');
INSERT INTO "runs" VALUES('run_970ecbaeb853ce285b17f618','key_802b8edc1701c221','podium','',1795336393313134,20779,19000,'
','{"id":"run_970ecbaeb853ce285b17f618","key":"key_802b8edc1701c221","model":"podium","created":"2026-11-22T08:33:13.313134Z","seconds":0.13730348200010667,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":null,"answer":null,"transcripts":[]}','');
INSERT INTO "runs" VALUES('run_66f47f95b31515ab4bddd2a7','key_22264880405db40f','podium','',1795336393463126,20779,19000,'what time is it?
','{"id":"run_66f47f95b31515ab4bddd2a7","key":"key_22264880405db40f","model":"podium","created":"2026-11-22T08:33:13.463126Z","seconds":0.06174332199998389,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":"What time is it?","answer":"","transcripts":[]}','{"question":[{"role":"user","content":"What time is it?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"model_id = [0]\nsubtasks = [\"Answer the question. Show your work, then give the final answer.\"]\naccess_list = [[]]","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false},"worker":"strong","completion":{"text":"","finish_reason":"tool_calls","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"seconds":0.004039416999830792,"price_source":"pool file","tool_calls":[{"id":"call_0","name":"now","arguments":"{}"}],"transcripts":[]},"failure":null,"start_seconds":2.5527999923724565e-05,"seconds":0.03868603000000803}],"answer":"","failure":null,"seconds":0.038760890000048676}');
CREATE UNIQUE INDEX keys_live_name ON keys (name) WHERE revoked_us IS NULL;
CREATE INDEX leases_key ON leases ("key");
CREATE INDEX runs_created ON runs (created_us);
CREATE INDEX runs_key_created ON runs ("key", created_us);
CREATE INDEX paused_expires ON paused (expires_us);
COMMIT;

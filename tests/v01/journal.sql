PRAGMA application_id = 1349477425;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE calls (
        key TEXT PRIMARY KEY, worker TEXT NOT NULL, run TEXT NOT NULL,
        owner TEXT NOT NULL, ticket INTEGER NOT NULL, bound_usd REAL, claimed_at REAL NOT NULL,
        completion TEXT, prompt_tokens INTEGER, completion_tokens INTEGER, cost_usd REAL);
INSERT INTO "calls" VALUES('9b5b7f43955efe722bec3801197cc5ce069e264a51748f779b03c357b7103484','{"base_url":"http://127.0.0.1:9911/v1","extra_body":{},"model":"gpt-5-mini","provider":"openai","sampling":{"max_tokens":8192}}','serve sqlite:///v01.db','24263-63efc6a7d92e',0,0.01644,1.79533639277216458323e+09,'{"text": "It is 42.", "finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 5, "cost_usd": 1.9e-05}, "seconds": 0.08106699999984812, "price_source": "pool file", "tool_calls": [], "transcripts": []}',9,5,1.9e-05);
INSERT INTO "calls" VALUES('ac114838147f541ae0d2a6c0bfb1536759e10a66d98fd2fd648dca668073dc4f','{"base_url":"http://127.0.0.1:9911/v1","extra_body":{},"model":"gpt-5-nano","provider":"openai","sampling":{"max_tokens":8192}}','serve sqlite:///v01.db','24263-63efc6a7d92e',1,1.64019999999999986119e-03,1.79533639324043536181e+09,'{"text": "It is 42.", "finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 5, "cost_usd": 1.9e-06}, "seconds": 0.021659759999920425, "price_source": "pool file", "tool_calls": [], "transcripts": []}',9,5,1.9e-06);
INSERT INTO "calls" VALUES('8b5eb32614e536c3abf829854024a31e01b2e4b5e26ec2166b0e4feaf34437e2','{"base_url":"http://127.0.0.1:9911/v1","extra_body":{},"model":"gpt-5-mini","provider":"openai","sampling":{"max_tokens":8192}}','serve sqlite:///v01.db','24263-63efc6a7d92e',2,0.016439,1.79533639334607172011e+09,'{"text": "It is 42.", "finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 5, "cost_usd": 1.9e-05}, "seconds": 0.014151867000009588, "price_source": "pool file", "tool_calls": [], "transcripts": []}',9,5,1.9e-05);
INSERT INTO "calls" VALUES('799b14625ff12d98227ba98c9ae79fa7de9377c58a4405e34a7ff4314e8525a3','{"base_url":"http://127.0.0.1:9911/v1","extra_body":{},"model":"gpt-5-mini","provider":"openai","sampling":{"max_tokens":8192}}','serve sqlite:///v01.db','24263-63efc6a7d92e',3,0.016458,1.79533639346794891356e+09,'{"text": "", "finish_reason": "tool_calls", "usage": {"prompt_tokens": 9, "completion_tokens": 5, "cost_usd": 1.9e-05}, "seconds": 0.004039416999830792, "price_source": "pool file", "tool_calls": [{"id": "call_0", "name": "now", "arguments": "{}"}], "transcripts": []}',9,5,1.9e-05);
CREATE TABLE counts (
        run TEXT NOT NULL, worker TEXT NOT NULL, replays INTEGER NOT NULL, failures INTEGER NOT NULL,
        unsettled INTEGER NOT NULL, unbounded INTEGER NOT NULL, uncertain_usd REAL NOT NULL,
        PRIMARY KEY (run, worker));
COMMIT;

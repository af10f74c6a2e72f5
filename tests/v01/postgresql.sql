CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.keys (
    id character varying(64) NOT NULL,
    name character varying(64) NOT NULL,
    hash character varying(64) NOT NULL,
    scopes character varying(64) NOT NULL,
    monthly_nano bigint,
    requests_per_minute integer,
    tokens_per_minute bigint,
    store_content boolean NOT NULL,
    created_us bigint NOT NULL,
    revoked_us bigint
);
CREATE TABLE public.leases (
    id character varying(64) NOT NULL,
    key character varying(64) NOT NULL,
    month integer NOT NULL,
    minute bigint NOT NULL,
    replica character varying(128) NOT NULL,
    cap_nano bigint NOT NULL,
    used_nano bigint NOT NULL,
    in_flight_nano bigint NOT NULL,
    tokens bigint NOT NULL,
    beat_us bigint NOT NULL,
    reaped_us bigint
);
CREATE TABLE public.minutes (
    key character varying(64) NOT NULL,
    minute bigint NOT NULL,
    requests integer NOT NULL,
    tokens bigint NOT NULL
);
CREATE TABLE public.months (
    key character varying(64) NOT NULL,
    month integer NOT NULL,
    spent_nano bigint NOT NULL,
    uncertain_nano bigint NOT NULL,
    unpriced integer NOT NULL
);
CREATE TABLE public.paused (
    id character varying(64) NOT NULL,
    state text NOT NULL,
    expires_us bigint NOT NULL
);
CREATE TABLE public.runs (
    id character varying(64) NOT NULL,
    key character varying(64) NOT NULL,
    model text NOT NULL,
    failure character varying(64) NOT NULL,
    created_us bigint NOT NULL,
    day integer NOT NULL,
    cost_nano bigint,
    searched text NOT NULL,
    record text NOT NULL,
    transcripts text NOT NULL
);
INSERT INTO public.alembic_version VALUES ('0001');
INSERT INTO public.keys VALUES ('key_b80a7a681c1ad403', 'alice', '225ffe4bcb868b75450bdd6f9435a7d60aa1090d7e6121a85c30c991f3b34e24', 'ask', 5000000000, 60, NULL, true, 1795336419970983, NULL);
INSERT INTO public.keys VALUES ('key_29039ffd0bae3102', 'bob', 'b591f822a713567b7d3f9737bc984ed4982d8b4c686bd562017df1703c91a50b', 'ask', NULL, NULL, NULL, false, 1795336425370606, NULL);
INSERT INTO public.keys VALUES ('key_4b39819e3c4f5f09', 'root', '2c1c95e39e9dadf7f416ea94af10f33233f1702151278e531c1a1787f7b34837', 'admin ask', NULL, NULL, NULL, true, 1795336431802706, NULL);
INSERT INTO public.minutes VALUES ('key_29039ffd0bae3102', 29922274, 1, 14);
INSERT INTO public.minutes VALUES ('key_b80a7a681c1ad403', 29922274, 3, 42);
INSERT INTO public.months VALUES ('key_29039ffd0bae3102', 202611, 19000, 0, 0);
INSERT INTO public.months VALUES ('key_b80a7a681c1ad403', 202611, 39900, 0, 0);
INSERT INTO public.paused VALUES ('035f8943c4e03fd0be3283c4ae2f9698e1f90f1fdb4cc8ffa3b21b81897cdcdc', '"{\"worker\":\"strong\",\"question\":[{\"role\":\"user\",\"content\":\"What time is it?\",\"tool_calls\":[],\"tool_call_id\":\"\"}],\"subtask\":\"Answer the question. Show your work, then give the final answer.\",\"visible\":[],\"turns\":[]}"', 4102444800000000);
INSERT INTO public.runs VALUES ('run_56c2b2cc48dcad82b9cd5c6f', 'key_b80a7a681c1ad403', 'podium', '', 1795336448203591, 20779, 19000, 'what is 6 times 7?
it is 42.', '{"id":"run_56c2b2cc48dcad82b9cd5c6f","key":"key_b80a7a681c1ad403","model":"podium","created":"2026-11-22T08:34:08.203591Z","seconds":0.167591578000156,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":"What is 6 times 7?","answer":"It is 42.","transcripts":[]}', '{"question":[{"role":"user","content":"What is 6 times 7?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"model_id = [0]\nsubtasks = [\"Answer the question. Show your work, then give the final answer.\"]\naccess_list = [[]]","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false},"worker":"strong","completion":{"text":"It is 42.","finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"seconds":0.050612531999831845,"price_source":"pool file","tool_calls":[],"transcripts":[]},"failure":null,"start_seconds":4.257000000507105e-05,"seconds":0.16674362799994924}],"answer":"It is 42.","failure":null,"seconds":0.16684870499989302}');
INSERT INTO public.runs VALUES ('run_56f06b1601fb9fcd20b4700f', 'key_b80a7a681c1ad403', 'cheap', '', 1795336448482444, 20779, 1900, 'why is the sky blue?
it is 42.', '{"id":"run_56f06b1601fb9fcd20b4700f","key":"key_b80a7a681c1ad403","model":"cheap","created":"2026-11-22T08:34:08.482444Z","seconds":0.05282178599986764,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-06},"failure":"","steps":1,"workers":["cheap"],"question":"Why is the sky blue?","answer":"It is 42.","transcripts":[]}', '{"question":[{"role":"user","content":"Why is the sky blue?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"","access":[],"last_answer":false},"worker":"cheap","completion":{"text":"It is 42.","finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-06},"seconds":0.02707088100009969,"price_source":"pool file","tool_calls":[],"transcripts":[]},"failure":null,"start_seconds":0.0,"seconds":0.05237464699985139}],"answer":"It is 42.","failure":null,"seconds":0.05237464699985139}');
INSERT INTO public.runs VALUES ('run_12c2e0cdfc9349f8ece24ed7', 'key_29039ffd0bae3102', 'podium', '', 1795336448562687, 20779, 19000, '
', '{"id":"run_12c2e0cdfc9349f8ece24ed7","key":"key_29039ffd0bae3102","model":"podium","created":"2026-11-22T08:34:08.562687Z","seconds":0.008682185999987269,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":null,"answer":null,"transcripts":[]}', '');
INSERT INTO public.runs VALUES ('run_2d7c4fd73e058bb110c3f716', 'key_b80a7a681c1ad403', 'podium', '', 1795336448606613, 20779, 19000, 'what time is it?
', '{"id":"run_2d7c4fd73e058bb110c3f716","key":"key_b80a7a681c1ad403","model":"podium","created":"2026-11-22T08:34:08.606613Z","seconds":0.0395818300000883,"usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"failure":"","steps":1,"workers":["strong"],"question":"What time is it?","answer":"","transcripts":[]}', '{"question":[{"role":"user","content":"What time is it?","tool_calls":[],"tool_call_id":""}],"generation":{"text":"model_id = [0]\nsubtasks = [\"Answer the question. Show your work, then give the final answer.\"]\naccess_list = [[]]","token_ids":[],"logprobs":[],"policy_version":"","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":0,"cost_usd":0.0},"seconds":0.0},"workflow":{"steps":[{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false}]},"results":[{"step":{"worker":0,"subtask":"Answer the question. Show your work, then give the final answer.","access":[],"last_answer":false},"worker":"strong","completion":{"text":"","finish_reason":"tool_calls","usage":{"prompt_tokens":9,"completion_tokens":5,"cost_usd":1.9e-05},"seconds":0.008699609999894165,"price_source":"pool file","tool_calls":[{"id":"call_0","name":"now","arguments":"{}"}],"transcripts":[]},"failure":null,"start_seconds":3.595700013647729e-05,"seconds":0.031682421999903454}],"answer":"","failure":null,"seconds":0.03176969600008306}');
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.minutes
    ADD CONSTRAINT minutes_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.months
    ADD CONSTRAINT months_pkey PRIMARY KEY (key, month);
ALTER TABLE ONLY public.paused
    ADD CONSTRAINT paused_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX keys_live_name ON public.keys USING btree (name) WHERE (revoked_us IS NULL);
CREATE INDEX leases_key ON public.leases USING btree (key);
CREATE INDEX paused_expires ON public.paused USING btree (expires_us);
CREATE INDEX runs_created ON public.runs USING btree (created_us);
CREATE INDEX runs_key_created ON public.runs USING btree (key, created_us);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_key_fkey FOREIGN KEY (key) REFERENCES public.keys(id);
ALTER TABLE ONLY public.minutes
    ADD CONSTRAINT minutes_key_fkey FOREIGN KEY (key) REFERENCES public.keys(id);
ALTER TABLE ONLY public.months
    ADD CONSTRAINT months_key_fkey FOREIGN KEY (key) REFERENCES public.keys(id);

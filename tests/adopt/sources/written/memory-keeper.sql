CREATE TABLE context_items (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        category TEXT,
        priority TEXT DEFAULT 'normal',
        metadata TEXT,
        size INTEGER DEFAULT 0,
        is_private INTEGER DEFAULT 0,
        channel TEXT DEFAULT 'general',
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, sequence_number INTEGER DEFAULT 0,
        FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
        UNIQUE(session_id, key)
      );
CREATE TABLE context_relationships (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        from_key TEXT NOT NULL,
        to_key TEXT NOT NULL,
        relationship_type TEXT NOT NULL,
        metadata TEXT,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,
        UNIQUE(session_id, from_key, to_key, relationship_type)
      );
CREATE TABLE journal_entries (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        entry TEXT NOT NULL,
        mood TEXT,
        tags TEXT, -- JSON array of tags
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE
      );
CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        name TEXT,
        description TEXT,
        branch TEXT,
        working_directory TEXT,
        parent_id TEXT,
        default_channel TEXT DEFAULT 'general',
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        FOREIGN KEY (parent_id) REFERENCES sessions(id)
      );
INSERT INTO "context_items" VALUES('37b0a870-7041-4e13-a4eb-9fb585379e61','9ef30f7c-cae8-4355-b06c-86524dedfa4d','retry_policy','A failed payment is tried three times, then parked.','decision','high',NULL,51,0,'payments','2026-11-16 19:58:56','2026-11-16 19:58:56',1);
INSERT INTO "context_items" VALUES('e8aa1aa7-3e98-462a-8ff5-e2ae221b6786','9ef30f7c-cae8-4355-b06c-86524dedfa4d','next_step','Write the replay job.','task','normal',NULL,21,0,'checkout','2026-11-16 19:58:56','2026-11-16 19:58:56',2);
INSERT INTO "context_relationships" VALUES('7411f058-60b9-47e3-bed9-8d28236b2a8e','9ef30f7c-cae8-4355-b06c-86524dedfa4d','next_step','retry_policy','depends_on',NULL,'2026-11-16 19:58:56');
INSERT INTO "journal_entries" VALUES('e8b5db53-4174-44b9-9182-8d096c1daf12','9ef30f7c-cae8-4355-b06c-86524dedfa4d','The sandbox drops every tenth call.','annoyed','["bank"]','2026-11-16 19:58:56');
INSERT INTO "sessions" VALUES('9ef30f7c-cae8-4355-b06c-86524dedfa4d','checkout','payments',NULL,NULL,NULL,'checkout','2026-11-16T19:58:55.834Z','2026-11-16T19:58:55.834Z');

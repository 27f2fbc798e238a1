//! The tables of the code database and the views that are open to readers.
//!
//! The views are the documented face (`files`, `symbols`, `calls`, `uses`,
//! `includes`, `inherits`, `guards`, `flows`); the tables below them are
//! compact: names are numbers, the sites of a name in a file are one row. A
//! change of either raises [`VERSION`], and older files are built anew.

/// Raised with every change of tables, of views, or of what extractors find.
pub(crate) const VERSION: i64 = 6;

/// Marks the file as ours ("PWcd").
pub(crate) const APPLICATION: i64 = 0x5057_6364;

pub(crate) const TABLES: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE file(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  language TEXT,
  lines INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  hash BLOB,
  first_symbol INTEGER NOT NULL,
  last_symbol INTEGER NOT NULL,
  broken INTEGER NOT NULL,
  skipped TEXT);
CREATE TABLE name(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE symbol(
  id INTEGER PRIMARY KEY,
  name_id INTEGER NOT NULL,
  scope_id INTEGER NOT NULL,
  type_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  file_id INTEGER NOT NULL,
  parent_id INTEGER,
  line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  name_line INTEGER NOT NULL,
  body_line INTEGER NOT NULL,
  least INTEGER NOT NULL,
  most INTEGER NOT NULL,
  static INTEGER NOT NULL);
CREATE TABLE call(
  caller_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL,
  receiver_id INTEGER NOT NULL,
  arguments INTEGER NOT NULL,
  lines TEXT NOT NULL,
  PRIMARY KEY(caller_id, name_id, receiver_id, arguments)) WITHOUT ROWID;
CREATE TABLE posting(
  file_id INTEGER NOT NULL,
  name_id INTEGER NOT NULL,
  sites TEXT NOT NULL,
  PRIMARY KEY(file_id, name_id)) WITHOUT ROWID;
CREATE TABLE import(
  file_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  target_id INTEGER NOT NULL,
  PRIMARY KEY(file_id, line, target_id)) WITHOUT ROWID;
CREATE TABLE inherit(
  symbol_id INTEGER NOT NULL,
  base_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  PRIMARY KEY(symbol_id, base_id)) WITHOUT ROWID;
CREATE TABLE word(word TEXT NOT NULL, layer INTEGER NOT NULL, postings BLOB NOT NULL);
CREATE TABLE worded(
  first_symbol INTEGER PRIMARY KEY,
  last_symbol INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  length INTEGER NOT NULL);
CREATE TABLE analysed(symbol_id INTEGER PRIMARY KEY);
CREATE TABLE guard(
  symbol_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  condition_line INTEGER NOT NULL,
  kind TEXT NOT NULL,
  condition TEXT NOT NULL);
CREATE TABLE flow(
  symbol_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  kind TEXT NOT NULL);
";

/// Indexes for lookups; made after the bulk of the rows is in.
pub(crate) const INDEXES: &str = "
CREATE UNIQUE INDEX file_path ON file(path);
CREATE INDEX file_symbols ON file(first_symbol);
CREATE UNIQUE INDEX name_text ON name(name);
CREATE INDEX symbol_name ON symbol(name_id);
CREATE INDEX symbol_typedef ON symbol(type_id) WHERE kind = 'typedef';
CREATE INDEX call_name ON call(name_id);
CREATE INDEX posting_name ON posting(name_id);
CREATE INDEX import_target ON import(target_id);
CREATE INDEX inherit_base ON inherit(base_id);
CREATE INDEX word_text ON word(word);
CREATE INDEX guard_symbol ON guard(symbol_id);
CREATE INDEX flow_symbol ON flow(symbol_id);
";

/// The documented face of the database.
pub(crate) const VIEWS: &str = "
CREATE VIEW files AS
  SELECT id, path, language, lines, size, skipped FROM file;
CREATE VIEW symbols AS
  SELECT s.id, n.name, s.kind, f.path, s.line, s.end_line, s.name_line,
         nullif(s.body_line, 0) AS body_line,
         (SELECT name FROM name WHERE id = s.scope_id) AS scope,
         (SELECT name FROM name WHERE id = s.type_id) AS type,
         s.parent_id AS parent, s.file_id
  FROM symbol s JOIN name n ON n.id = s.name_id JOIN file f ON f.id = s.file_id;
CREATE VIEW calls AS
  SELECT c.caller_id, (SELECT name FROM name WHERE id = s.name_id) AS caller,
         n.name AS callee, f.path, CAST(c.lines AS INTEGER) AS line, c.lines
  FROM call c JOIN name n ON n.id = c.name_id
  LEFT JOIN symbol s ON s.id = c.caller_id
  JOIN file f ON f.id = coalesce(s.file_id, (SELECT id FROM file
       WHERE first_symbol <= c.caller_id ORDER BY first_symbol DESC LIMIT 1));
CREATE VIEW uses AS
  SELECT n.name, f.path, j.value >> 3 AS line,
         CASE j.value & 7 WHEN 0 THEN 'read' WHEN 1 THEN 'write' ELSE 'type' END AS kind,
         (SELECT s.id FROM symbol s WHERE s.id BETWEEN f.first_symbol AND f.last_symbol
            AND s.line <= j.value >> 3 AND s.end_line >= j.value >> 3
            AND s.body_line > 0 ORDER BY s.id DESC LIMIT 1) AS symbol_id
  FROM posting p JOIN name n ON n.id = p.name_id JOIN file f ON f.id = p.file_id
  JOIN json_each('[' || p.sites || ']') j
  UNION ALL
  SELECT n.name, f.path, j.value AS line, 'call' AS kind, s.id AS symbol_id
  FROM call c JOIN name n ON n.id = c.name_id
  JOIN symbol s ON s.id = c.caller_id JOIN file f ON f.id = s.file_id
  JOIN json_each('[' || c.lines || ']') j;
CREATE VIEW includes AS
  SELECT f.path, i.line, n.name AS target
  FROM import i JOIN name n ON n.id = i.target_id JOIN file f ON f.id = i.file_id;
CREATE VIEW inherits AS
  SELECT i.symbol_id, (SELECT name FROM name WHERE id = s.name_id) AS name,
         n.name AS base, f.path, i.line
  FROM inherit i JOIN name n ON n.id = i.base_id
  JOIN symbol s ON s.id = i.symbol_id JOIN file f ON f.id = s.file_id;
CREATE VIEW guards AS
  SELECT n.name AS function, f.path, g.line, g.end_line, g.condition_line,
         g.kind, g.condition, g.symbol_id
  FROM guard g JOIN symbol s ON s.id = g.symbol_id
  JOIN name n ON n.id = s.name_id JOIN file f ON f.id = s.file_id;
CREATE VIEW flows AS
  SELECT n.name AS function, f.path, w.line, w.source, w.target, w.kind, w.symbol_id
  FROM flow w JOIN symbol s ON s.id = w.symbol_id
  JOIN name n ON n.id = s.name_id JOIN file f ON f.id = s.file_id;
";

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

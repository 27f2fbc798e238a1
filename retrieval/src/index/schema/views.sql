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

"use strict";
// Parts that are fetched when they are opened, live updates, keys, and the forms of the HTTP
// interface. What is put into the page as HTML was escaped by the server.

async function fragment(address) {
  const answer = await fetch(address, { headers: { "x-fragment": "1" }, redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

async function load(details) {
  const place = details.querySelector(":scope > .loaded");
  if (!details.open || !place || details.dataset.done) return;
  details.dataset.done = "1";
  try {
    place.innerHTML = await fragment(details.dataset.load);
    place.querySelectorAll("details[data-load][open]").forEach(load);
  } catch (error) {
    delete details.dataset.done;
    place.textContent = "This could not be loaded (" + error.message + "). Close and open it to try again.";
  }
}

document.addEventListener("toggle", (event) => {
  if (event.target.matches("details[data-load]")) load(event.target);
}, true);
document.querySelectorAll("details[data-load][open]").forEach(load);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-expand]");
  if (!button) return;
  const row = button.closest("tr");
  button.disabled = true;
  try {
    const body = document.createElement("tbody");
    body.innerHTML = await fragment(button.dataset.expand);
    row.replaceWith(...body.children);
  } catch (error) {
    button.replaceWith("The source cannot be shown: it is not here, or has changed since.");
  }
});

const address = document.body.dataset.events;
if (address) {
  const events = new EventSource(address);
  const known = {}; // what the server told last: a part that a reader has opened stays open
  events.addEventListener("change", (event) => {
    const { story, parts } = JSON.parse(event.data);
    document.getElementById("lines").insertAdjacentHTML("beforeend", story);
    for (const [id, html] of Object.entries(parts)) {
      const part = document.getElementById(id);
      if (!part || (known[id] ?? part.innerHTML) === html || part.contains(document.activeElement)) continue;
      known[id] = html;
      part.innerHTML = html;
    }
  });
  events.addEventListener("end", () => { events.close(); delete document.body.dataset.events; });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const rows = [...document.querySelectorAll("a.task, a[data-row]")];
  if (event.key === "j" || event.key === "k") {
    const at = rows.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    rows[Math.max(0, Math.min(at, rows.length - 1))]?.focus();
  } else {
    const target = document.querySelector("[data-key=\"" + CSS.escape(event.key) + "\"]");
    if (!target) return;
    event.preventDefault();
    if (target.matches("a")) target.click(); else target.focus();
  }
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-method]");
  if (!form) return;
  event.preventDefault();
  const shown = form.querySelector("pre");
  const headers = {}, query = new URLSearchParams(), token = document.getElementById("token").value;
  let path = form.dataset.path;
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (!input.value) continue;
    if (input.dataset.in === "path") path = path.replace("{" + input.name + "}", encodeURIComponent(input.value));
    else if (input.dataset.in === "header") headers[input.name] = input.value;
    else query.append(input.name, input.value);
  }
  if (token) headers.authorization = "Bearer " + token;
  const body = form.elements.body?.value || undefined;
  if (body) headers["content-type"] = "application/json";
  shown.hidden = false;
  shown.textContent = "…";
  try {
    const address = query.size ? path + "?" + query : path;
    const answer = await fetch(address, { method: form.dataset.method.toUpperCase(), headers, body });
    shown.textContent = answer.status + " " + answer.statusText + "\n";
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part; reader && shown.textContent.length < 200000 && !(part = await reader.read()).done;) {
      shown.textContent += part.value; // a stream of events is shown as it comes
    }
    await reader?.cancel();
  } catch (error) {
    shown.textContent += error.message;
  }
});

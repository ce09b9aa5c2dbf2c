// The page's own script: moves between screens without a reload, searches as you type, keys, and word of changes.
// Every screen and every form works without it. It puts nothing into the page but what the server rendered.
(() => {
  "use strict";
  const main = document.getElementById("main");
  const query = document.getElementById("q");
  const live = document.getElementById("live");
  const help = document.getElementById("help");
  const hotkeys = document.getElementById("hotkeys");
  let running = null;
  // How much that somebody asked for is under way.
  let asked = 0;
  const begin = () => { asked += 1; main.setAttribute("aria-busy", "true"); };
  const end = () => { asked -= 1; if (!asked) main.removeAttribute("aria-busy"); };

  const here = () => location.pathname + location.search;

  // What somebody would call the same button or link after a screen was rendered again.
  const FOCUSABLE = "a[href], button, summary, input, select, textarea, [tabindex]";
  const looks = (one) => [one.tagName, one.getAttribute("name"), one.getAttribute("href"), one.textContent].join("\n");

  function place(html, response, url, options) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const active = options.keep && document.activeElement !== main && main.contains(document.activeElement)
      ? document.activeElement : null;
    const kept = active?.closest("[data-key]")?.dataset.key;
    const looked = active && looks(active);
    const said = options.keep && main.querySelector("#said .said");
    main.replaceChildren(template.content);
    if (said) main.querySelector("#said")?.append(said);
    const title = main.querySelector("h1");
    document.title = (title ? title.textContent : "") + " · Heirloom";
    const at = response.headers.get("x-at") || "";
    for (const link of document.querySelectorAll("nav a")) {
      link.getAttribute("href") === at ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    }
    if (options.history === "push") history.pushState(null, "", url);
    if (options.history === "replace") history.replaceState(null, "", url);
    settle();
    if (active) {
      const within = kept && [...main.querySelectorAll("[data-key]")].find((one) => one.dataset.key === kept);
      const again = [...(within || main).querySelectorAll(FOCUSABLE)].find((one) => looks(one) === looked);
      (again || within)?.focus();
    } else if (options.focus) {
      (main.querySelector("[autofocus]") || title || main).focus();
      const target = url.split("#")[1] && document.getElementById(url.split("#")[1]);
      target ? target.scrollIntoView() : window.scrollTo(0, 0);
    }
  }

  async function load(url, options) {
    running?.abort();
    const mine = running = new AbortController();
    const headers = { "x-part": "1" };
    if (options.keep) headers["x-by-itself"] = "1";
    else begin();
    try {
      const response = await fetch(url, { headers, signal: mine.signal });
      if (response.status === 401) return location.assign(url);
      const html = await response.text();
      if (running !== mine) return;
      // Somebody may have begun something while this was on its way.
      if (options.keep && busy()) live.textContent = "something changed";
      else place(html, response, url, options);
    } catch (wrong) {
      if (wrong.name !== "AbortError") live.textContent = "the server does not answer; run heirloom open again";
    } finally {
      if (!options.keep) end();
    }
  }

  async function send(form, button) {
    const body = new URLSearchParams(new FormData(form, button));
    running?.abort();
    begin();
    try {
      const response = await fetch(form.action, { method: "POST", body, headers: { "x-part": "1" } });
      const html = await response.text();
      // A look that began before this was done would show what was.
      running?.abort();
      running = null;
      if (response.ok) {
        form.removeAttribute("data-dirty");
        const to = response.redirected ? new URL(response.url) : null;
        place(html, response, to ? to.pathname + to.search : here(), { history: to ? "replace" : null, focus: true });
        next(form);
      } else {
        refuse(form, html);
      }
    } catch {
      live.textContent = "the server does not answer; run heirloom open again";
    } finally {
      end();
    }
  }

  // What went wrong is said where it was tried, and what was typed stays.
  function refuse(form, html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const fault = template.content.querySelector(".fault");
    if (!fault) return;
    form.parentElement.querySelector(":scope > .fault")?.remove();
    fault.tabIndex = -1;
    form.before(fault);
    fault.focus();
  }

  // After a decision the next item is where the hands are.
  function next() {
    const item = main.querySelector(".items [data-item]");
    if (item) item.focus();
  }

  function settle() {
    const some = main.querySelector("[name=key]:checked, [name=id]:checked") !== null;
    for (const button of main.querySelectorAll("[data-needs-selection]")) button.disabled = !some;
    for (const section of main.querySelectorAll("[data-load]")) {
      const from = section.dataset.load;
      section.removeAttribute("data-load");
      into(section, from);
    }
  }

  async function into(section, from) {
    const response = await fetch(from, { headers: { "x-part": "1" } });
    if (!response.ok) return;
    const template = document.createElement("template");
    template.innerHTML = await response.text();
    template.content.querySelector("#said")?.remove();
    template.content.querySelector("h1")?.remove();
    template.content.querySelector("p")?.remove();
    section.replaceChildren(template.content);
    settle();
  }

  // Links and forms of the page.
  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      navigator.clipboard?.writeText(copy.dataset.copy).then(() => { copy.textContent = "Copied"; });
      return;
    }
    const take = event.target.closest("[data-into][data-text]");
    if (take) {
      const field = take.closest("form").elements[take.dataset.into];
      field.value = take.dataset.text;
      take.closest("form").setAttribute("data-dirty", "");
      return field.focus();
    }
    const link = event.target.closest("a[href]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button || link.origin !== location.origin) return;
    const url = link.getAttribute("href");
    if (!url.startsWith("/")) return;
    event.preventDefault();
    if (link.dataset.line !== undefined) query.value = link.dataset.line;
    load(url, { history: "push", focus: link.dataset.line === undefined });
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // What changes the frame of the page is sent as any form is.
    if (form.method === "dialog" || form.dataset.whole !== undefined) return;
    event.preventDefault();
    if (form.method === "post") return send(form, event.submitter);
    const words = new URLSearchParams(new FormData(form, event.submitter));
    const url = form.getAttribute("action") + "?" + words;
    const section = form.dataset.into && document.getElementById(form.dataset.into);
    section ? into(section, url) : load(url, { history: "push", focus: true });
  });
  window.addEventListener("popstate", () => {
    query.value = location.pathname === "/search" ? new URLSearchParams(location.search).get("q") || "" : "";
    load(here(), { focus: true });
  });
  document.addEventListener("input", (event) => {
    if (event.target === query) {
      const url = "/search?q=" + encodeURIComponent(query.value);
      return load(url, { history: location.pathname === "/search" ? "replace" : "push" });
    }
    event.target.closest("form")?.setAttribute("data-dirty", "");
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) {
      for (const box of main.querySelectorAll("[name=key]")) box.checked = event.target.checked;
    }
    if (event.target.matches("[type=checkbox]")) settle();
    if (event.target === hotkeys) localStorage.setItem("hotkeys", hotkeys.checked ? "on" : "off");
  });

  // Keys.
  hotkeys.checked = localStorage.getItem("hotkeys") !== "off";
  let going = false;
  const items = () => [...main.querySelectorAll("[data-item]")].filter((one) => one.offsetParent !== null);
  const current = () => document.activeElement?.closest("[data-item]");

  function step(by) {
    const all = items();
    if (!all.length) return;
    const now = all.indexOf(current());
    const item = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1)];
    const link = item.matches("[tabindex], details") ? item : item.querySelector("a[href], summary, button");
    (item.matches("details") ? item.querySelector("summary") : link || item).focus();
    item.scrollIntoView({ block: "nearest" });
  }

  function press(key) {
    const scope = current();
    const button = scope?.querySelector(`[data-hotkey="${key}"]`) || (scope?.matches("li.item, div.item") && key !== "u" ? null : main.querySelector(`[data-hotkey="${key}"]`));
    if (button) button.click();
    return Boolean(button);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (event.target === query && (event.key === "ArrowDown" || (event.key === "Enter" && location.pathname === "/search"))) {
      event.preventDefault();
      return step(1);
    }
    if (typing || help.open || !hotkeys.checked) return;
    if (going) {
      going = false;
      document.querySelector(`nav a[data-go="${CSS.escape(event.key)}"]`)?.click();
      return event.preventDefault();
    }
    const does = {
      "/": () => { query.focus(); query.select(); },
      "?": () => help.showModal(),
      "j": () => step(1),
      "k": () => step(-1),
      "a": () => press("a"),
      "x": () => press("x"),
      "e": () => press("e"),
      "m": () => press("m"),
      "u": () => press("u") || load("/changes", { history: "push", focus: true }),
      "g": () => { going = true; },
      " ": () => {
        const box = current()?.querySelector("input[type=checkbox]");
        if (!box || event.target.matches("input, button, summary")) return false;
        box.click();
      },
    }[event.key];
    if (does && does() !== false) event.preventDefault();
  });
  document.getElementById("keys").addEventListener("click", () => help.showModal());

  function busy() {
    return main.querySelector("[data-dirty], .fault") || main.querySelector(":checked[name=key], :checked[name=id]") || help.open
      || document.activeElement?.matches("main input, main textarea, main select") || /^\/(edit|preview|doctor)/.test(location.pathname);
  }

  // Word of changes. Whoever is typing is told, and nothing moves under their hands.
  function changed() {
    // What somebody asked for comes first: looking again now would take them back to where they were.
    if (asked) {
      waits = setTimeout(changed, 150);
      return;
    }
    if (busy()) live.textContent = "something changed";
    else {
      live.textContent = "";
      load(here(), { keep: true });
    }
  }
  const events = new EventSource("/live");
  let waits = 0;
  events.addEventListener("change", () => {
    clearTimeout(waits);
    waits = setTimeout(changed, 150);
  });
  events.addEventListener("hello", () => { document.body.dataset.live = "on"; });
  events.addEventListener("error", () => { if (events.readyState === 2) live.textContent = "the server has ended; run heirloom open again"; });

  document.body.dataset.script = "on";
  if (location.pathname === "/search") query.value = new URLSearchParams(location.search).get("q") || "";
  settle();
})();

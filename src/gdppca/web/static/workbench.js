// Niceties: every page works without this file.
"use strict";

// The forecast follows the form. (A field of it may be called "dataset": ask for attributes.)
const form = document.querySelector("form[data-forecast]");
if (form) {
  const slider = form.querySelector("#epsilon_slider");
  const number = form.querySelector("#epsilon");
  const panel = document.getElementById("forecast");
  let timer = 0;
  let asked = 0;
  const refresh = async () => {
    const mine = ++asked;
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("csrf");
    panel.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${form.getAttribute("data-forecast")}?${fields}`);
      const text = await answer.text();
      if (mine === asked && answer.ok) panel.innerHTML = text;
    } catch {
      // The button still works.
    } finally {
      if (mine === asked) panel.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", (event) => {
    if (event.target === slider) number.value = slider.value;
    if (event.target === number) slider.value = number.value.replace(",", ".");
    clearTimeout(timer);
    timer = setTimeout(refresh, 250);
  });
}

// Work that is under way is looked at again and again.
const working = document.querySelector("[data-poll]");
if (working) {
  const cancel = document.getElementById("cancel");
  const look = async () => {
    try {
      const answer = await fetch(working.dataset.poll);
      if (answer.status === 204) {
        location.reload();
        return;
      }
      if (answer.ok) working.innerHTML = await answer.text();
      if (cancel && !working.textContent.includes("cancel")) cancel.hidden = true;
    } catch {
      // It may be back in a moment.
    }
    setTimeout(look, 1000);
  };
  setTimeout(look, 700);
}
const waiting = document.querySelector("[data-reload]");
if (waiting) setTimeout(() => location.reload(), Number(waiting.dataset.reload));

// A second click does nothing, though it could do no harm.
for (const each of document.querySelectorAll("form.spend")) {
  each.addEventListener("submit", () => {
    for (const button of each.querySelectorAll("button")) button.disabled = true;
  });
}
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

// Whoever sent something wrong is taken to where it is said.
const problems = document.getElementById("problems");
if (problems) problems.focus();

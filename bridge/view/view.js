"use strict";
(() => {
  // An estimate follows what one types; there is never more than one question under way.
  const form = document.getElementById("what-if");
  const shown = document.getElementById("estimate");
  if (form && shown) {
    let asked = "", timer = 0, busy = false;
    const query = () => new URLSearchParams(new FormData(form)).toString();
    const ask = async () => {
      if (busy || query() === asked) return;
      busy = true;
      asked = query();
      shown.setAttribute("aria-busy", "true");
      try {
        const answer = await fetch(`estimate?${asked}`);
        if (answer.ok) shown.innerHTML = await answer.text();
      } finally {
        busy = false;
        shown.removeAttribute("aria-busy");
      }
      if (query() !== asked) ask();
    };
    asked = query();
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 250); });
  }

  // A simulation says how far it is.
  const run = document.getElementById("run");
  if (run) {
    const follow = async () => {
      const answer = await fetch(`progress?run=${run.dataset.run}`);
      if (!answer.ok) return;
      run.innerHTML = await answer.text();
      if (run.querySelector("progress")) setTimeout(follow, 500);
    };
    follow();
  }

  // All results of a list at once.
  const all = document.getElementById("all");
  if (all) {
    const boxes = [...document.querySelectorAll("input[name=result]")];
    all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; });
  }
})();

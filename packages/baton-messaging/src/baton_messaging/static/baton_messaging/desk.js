// The list of dead letters: tick all of the page, and buttons that say what they act on.
(() => {
  const form = document.getElementById("letters");
  if (!form) return;
  const all = form.querySelector("#tick-all");
  const boxes = [...form.querySelectorAll("input[name=ids][type=checkbox]")];
  const buttons = [...form.querySelectorAll("button[data-some]")];

  function say() {
    const count = boxes.filter(box => box.checked).length;
    for (const button of buttons) {
      button.textContent = count ? button.dataset.some.replace("{count}", String(count)) : button.dataset.all;
    }
    if (!all) return;
    all.checked = count > 0 && count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
  }

  if (all) {
    all.closest("[hidden]")?.removeAttribute("hidden");
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
      say();
    });
  }
  form.addEventListener("change", say);
  window.addEventListener("pageshow", say); // a browser that goes back keeps the ticks
  say();
})();

// The order form: a running total, and − / + beside each quantity. Without it the form works as it stands.
const form = document.querySelector("form.stacked-form");
const steppers = [...document.querySelectorAll(".stepper")];
const total = document.getElementById("total");

function changed(input, by) {
  const limits = [input.min, input.max].map((limit, place) => (limit === "" ? [0, Infinity][place] : Number(limit)));
  const wanted = Math.min(Math.max((Number(input.value) || 0) + by, limits[0]), limits[1]);
  input.value = wanted === 0 ? "" : String(wanted);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

function add() {
  const cents = new Map();
  for (const stepper of steppers) {
    const input = stepper.querySelector("input");
    const count = Number(input.value);
    const [less, more] = stepper.querySelectorAll("button");
    less.disabled = input.disabled || !(count > 0);
    more.disabled = input.disabled || (input.max !== "" && count >= Number(input.max));
    if (!(count > 0) || !Number.isInteger(count)) continue;
    const sum = (cents.get(stepper.dataset.currency) ?? 0n) + BigInt(count) * BigInt(stepper.dataset.price);
    cents.set(stepper.dataset.currency, sum);
  }
  const language = document.documentElement.lang;
  const text = sum => `${(sum / 100n).toLocaleString(language)}.${String(sum % 100n).padStart(2, "0")}`;
  total.textContent = [...cents].map(([currency, sum]) => `${text(sum)} ${currency}`).join(" + ") || "–";
}

if (form && total) {
  for (const button of form.querySelectorAll("[data-step]")) {
    button.hidden = false;
    button.addEventListener("click", () => changed(button.parentElement.querySelector("input"), Number(button.dataset.step)));
  }
  form.addEventListener("input", add);
  window.addEventListener("pageshow", add); // a browser that goes back fills in what was typed
  total.closest("[hidden]").hidden = false;
  add();
}

"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // The colours of a chart follow the theme of the page.
  const colored = (layout) => {
    const axis = (own) => ({ gridcolor: color("--line"), zerolinecolor: color("--line"),
      linecolor: color("--line"), automargin: true, ...own });
    return { margin: { t: 40, r: 10, b: 55, l: 60 },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, traceorder: "normal" },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: color("--text"), family: "system-ui, sans-serif" },
      hoverlabel: { font: { family: "system-ui, sans-serif" } },
      ...layout, xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis),
      ...(layout.legend ? { legend: layout.legend } : {}) };
  };
  // On a phone, the names of a legend stand one below the other, above the chart, and long names
  // take several lines.
  const narrow = window.matchMedia("(max-width: 40rem)");
  const lines = (text, most) => {
    if (String(text).length <= most) return String(text);
    const cut = new RegExp(`.{1,${most - 1}}(?:[,:] |_)|.{1,${most}}`, "gs");
    return String(text).match(cut).map((line) => line.trim()).join("<br>");
  };
  const fitted = (chart) => {
    const layout = colored(chart.layout);
    if (!narrow.matches) return { data: chart.data, layout };
    const data = chart.data.map((one) => ({ ...one,
      ...(one.name ? { name: lines(one.name, 42) } : {}),
      ...((one.mode || "").includes("text") ? { textfont: { size: 8 } } : {}) }));
    const names = data.filter((one) => one.showlegend !== false).map((one) => one.name || "");
    const rows = names.join("<br>").split("<br>").length;
    const hasLegend = layout.showlegend !== false && (names.length > 1 || chart.layout.legend);
    const room = hasLegend ? 20 * (rows + 1) : 0;
    const titles = (chart.layout.meta || {}).results;
    if (titles) {
      const ticktext = titles.map((one) => lines(one, 18));
      layout.yaxis = { ...layout.yaxis, tickvals: titles, ticktext };
    }
    for (const axis of [layout.xaxis, layout.yaxis]) {
      if (axis.title) axis.title = { ...axis.title, font: { size: 12 } };
    }
    return { data, layout: { ...layout, height: layout.height + room,
      margin: { t: 20 + room, r: 35, b: 45, l: 45 },
      legend: { ...layout.legend, orientation: "v", yref: "container", y: 1, yanchor: "top", x: 0,
        font: { size: 11 } } } };
  };
  // Of several results, a reader chooses those that are shown.
  const boxes = [...document.querySelectorAll("#choice input[value]")];
  const isShown = (result) => result === undefined || !boxes[result] || boxes[result].checked;
  const chosen = (chart) => {
    const bars = chart.layout.meta;
    const data = chart.data.filter((one) => isShown(one.meta));
    if (!bars || !boxes.length) return { ...chart, data };
    const kept = new Set(bars.results.filter((_, number) => isShown(number)));
    const points = (one) => one.y.map((_, index) => index).filter((index) => kept.has(one.y[index]));
    const before = new Set(data.flatMap((one) => one.y)).size;
    const cut = data.map((one) => ({ ...one, x: points(one).map((index) => one.x[index]),
      y: points(one).map((index) => one.y[index]) }));
    const after = new Set(cut.flatMap((one) => one.y)).size;
    const height = chart.layout.height - bars.bar * (before - after);
    return { ...chart, data: cut, layout: { ...chart.layout, height } };
  };
  const draw = () => {
    for (const own of document.querySelectorAll("[data-result]")) {
      own.hidden = !isShown(Number(own.dataset.result));
    }
    for (const chart of charts) {
      const place = document.getElementById(`chart-${chart.name}`);
      const figure = place.closest("figure");
      if (figure.parentElement.closest("[hidden]")) continue;
      const shown = chosen(chart);
      figure.hidden = !shown.data.some((one) => !one.y || one.y.length);
      if (figure.hidden) continue;
      const { data, layout } = fitted(shown);
      Plotly.react(place, data, layout, { responsive: true, displayModeBar: false });
    }
  };
  const every = document.getElementById("every");
  const count = document.querySelector("#choice output");
  const changed = () => {
    const number = boxes.filter((box) => box.checked).length;
    every.checked = number === boxes.length;
    count.textContent = number;
    draw();
  };
  for (const box of boxes) box.addEventListener("change", changed);
  if (every) {
    every.addEventListener("change", () => {
      for (const box of boxes) box.checked = every.checked;
      changed();
    });
  }
  narrow.addEventListener("change", draw);
  const button = document.getElementById("theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    draw();
  });
  dark.addEventListener("change", () => { name(); draw(); });
  name();
  draw();
})();

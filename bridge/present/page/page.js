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
  // On a phone, the names of a legend stand one below the other, above the chart.
  const narrow = window.matchMedia("(max-width: 40rem)");
  const fitted = (chart) => {
    const layout = colored(chart.layout);
    if (!narrow.matches) return layout;
    const names = chart.data.filter((one) => one.showlegend !== false).length;
    const room = names > 1 || chart.layout.legend ? 20 * (names + 1) : 0;
    return { ...layout, height: layout.height + room, margin: { t: 20 + room, r: 5, b: 45, l: 45 },
      legend: { ...layout.legend, orientation: "v", yref: "container", y: 1, yanchor: "top", x: 0 } };
  };
  const draw = () => {
    for (const chart of charts) {
      Plotly.react(`chart-${chart.name}`, chart.data, fitted(chart),
        { responsive: true, displayModeBar: false });
    }
  };
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

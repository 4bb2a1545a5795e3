// A dashed line at a value that matters: RAM, a buffer pool, a ratio of 1.

/** Annotation of a mark {axis: "x"|"y", value, label}; `raise` px lift its label above the plot. */
export function markLine(mark, theme, raise = 0) {
  return {
    type: "line", [`${mark.axis}Min`]: mark.value, [`${mark.axis}Max`]: mark.value, borderColor: theme.mark,
    borderWidth: 1.5, borderDash: [4, 3],
    label: {
      display: true, content: mark.label, position: "end", yAdjust: -raise, backgroundColor: theme.panel, color: theme.mark, padding: 3,
      font: { family: theme.font, size: 11, weight: "normal" },
    },
  };
}

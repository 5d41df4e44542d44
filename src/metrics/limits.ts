/** Bounds of what is counted, with their reasons. */
export const metricLimits = {
  /** Series of one kind of operation, which are made of tools and errors; all beyond are counted as one. */
  operationSeries: 2_000,
} as const;

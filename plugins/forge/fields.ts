/** The fields of an object that do not have this value: of a change those that it says something about, of a row those that are set. */
export const without = (absent: null | undefined, fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== absent))

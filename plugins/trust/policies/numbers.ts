type Compare = (a: number, b: number) => boolean

const comparators: Readonly<Record<string, Compare>> = {
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '!=': (a, b) => a !== b,
  '==': (a, b) => a === b,
  '=': (a, b) => a === b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
}

/** The test that a comparison such as `> 1000` stands for; undefined for a text that is none. */
export function comparison(pattern: string): ((value: number) => boolean) | undefined {
  const [, sign = '', digits = ''] =
    /^\s*(>=|<=|!=|==|=|>|<)\s*(\d{1,15}(?:\.\d{1,12})?)\s*$/.exec(pattern) ?? []
  const compare = comparators[sign]
  const bound = Number(digits)
  return compare && ((value) => compare(value, bound))
}

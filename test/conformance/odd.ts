import fc from 'fast-check'

/** Where something in a JSON is changed, as a number for each step down, and into what; undefined takes it out. */
export interface Change {
  readonly steps: readonly number[]
  readonly to: unknown
}

const others = [
  undefined,
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  [],
  {},
  [null],
  [[]],
  [{}],
  { text: null },
  { type: 'x' },
]

/** One change or two, to almost anything. */
export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    steps: fc.array(fc.nat(), { minLength: 1, maxLength: 7 }),
    to: fc.constantFrom<unknown>(...others),
  }),
  { minLength: 1, maxLength: 2 },
)

/** What the changes make of it. */
export const odd = (whole: unknown, made: readonly Change[]): unknown =>
  made.reduce((node, { steps, to }) => changed(node, steps, to), whole)

function changed(node: unknown, steps: readonly number[], to: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined || typeof node !== 'object' || node === null) return to
  const names = Object.keys(node)
  if (names.length === 0) return to
  const name = names[step % names.length]!
  const copy = (Array.isArray(node) ? [...node] : { ...node }) as Record<string, unknown>
  copy[name] = changed(copy[name], rest, to)
  return copy
}

/** What no message to a person says: it was put together from something that is not there. */
export const unspeakable = /\bundefined\b|\[object|\bNaN\b|\(null\)/

import { z } from 'zod'
import { isIpRange } from '../kit/http/ip-ranges.ts'

type Camel<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : S
type CamelKeys<T> = { readonly [K in keyof T as K extends string ? Camel<K> : K]: T[K] }

const camel = (key: string) => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

function camelKeys<T extends object>(value: T): CamelKeys<T> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [camel(key), inner])) as CamelKeys<T>
}

/** A group of keys: snake_case in the file and no others than these, camelCase in the code. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject(shape, {
      error: (issue) => (issue.code === 'invalid_type' ? 'expected a map of keys' : undefined),
    })
    .transform(camelKeys)

/** A map whose keys are the operator's own names. */
export const named = <Value extends z.ZodType>(value: Value, key: z.ZodString = z.string()) =>
  z.record(key, value, { error: (issue) => (issue.code === 'invalid_type' ? 'expected a map' : undefined) })

/** A map whose content is checked elsewhere. */
export const free = () => named(z.unknown())

export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'expected a list' })

export const text = () => z.string({ error: 'expected text' })

/** Text that is never shown again: what lists or exports the configuration masks it. */
export const secret = () => text().meta({ 'x-secret': true })

export const flag = () => z.boolean({ error: 'expected true or false' })

export function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

export function amount() {
  const error = 'expected a number, 0 or more'
  return z.number({ error }).min(0, { error })
}

export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return z.enum(values, { error: `expected one of ${values.join(', ')}` })
}

export const httpUrl = () => z.url({ protocol: /^https?$/, error: 'expected an http or https address' })

/** Where a browser's page comes from: scheme, host and port, nothing after them. */
export const origin = () =>
  text().refine((value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value), {
    error: 'expected an origin such as https://app.example.com, or *',
  })

export const addressRange = () =>
  text().refine(isIpRange, {
    error: 'expected an IP address or a range such as 10.0.0.0/8',
  })

/** A host, without a scheme, a port and a path, an address, or a range. */
export const hostOrRange = () =>
  text().refine((value) => isIpRange(value) || (/^[^\s/:*]+$/.test(value) && !/^[\d.]+$/.test(value)), {
    error: 'expected a host such as internal.example.com, an IP address or a range such as 10.0.0.0/8',
  })

const sizes: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 }
const durations: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A number with a unit, as the whole number of the smallest unit; a bare number is that already. */
function quantity(pattern: RegExp, units: Readonly<Record<string, number>>, error: string) {
  return z.union([z.int().min(0), z.string().regex(pattern, { error })], { error }).transform((value) => {
    if (typeof value === 'number') return value
    const [, digits = '', unit = ''] = pattern.exec(value) ?? []
    return Math.round(Number(digits) * (units[unit.toLowerCase()] ?? 1))
  })
}

/** Bytes, at least `least`, which catches a forgotten unit; kb, mb and gb are powers of 1024. */
export const size = (least = 0) =>
  quantity(/^(\d+(?:\.\d+)?) ?(b|kb|mb|gb)?$/i, sizes, 'expected a size such as 512kb or 10mb').refine(
    (value) => value >= least,
    {
      error: `expected ${least} bytes or more; a number without a unit is bytes`,
    },
  )

/** Milliseconds, at least `least`, which catches a forgotten unit. */
export const duration = (least = 0) =>
  quantity(
    /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/i,
    durations,
    'expected a duration such as 500ms, 10s or 5m',
  ).refine((value) => value >= least, {
    error: `expected ${least}ms or more; a number without a unit is milliseconds`,
  })

import { type GatewayError, notFound } from '#kernel'
import type { Nearest } from './nearest.ts'

const type = 'no_recording'
/** Places that the message names; the details have all. */
const mostNamed = 5

/** The refusal of a call that was not recorded. It tells where the nearest recording differs, and nothing of what it says. */
export function missing(cassette: string, nearest: Nearest | undefined): GatewayError {
  const hint = nearest
    ? `${nearest.file} is the nearest: ${differing(nearest)}`
    : 'Nothing like it was recorded.'
  return notFound(
    `The cassette ${cassette} has no recording of this request. ${hint} Record it with the mode record or auto.`,
    { type, details: { cassette, ...(nearest && { nearest }) } },
  )
}

function differing({ differences }: Nearest): string {
  if (differences.length === 0)
    return 'its request is the same, and a header or another module makes the difference.'
  const named = differences.slice(0, mostNamed).map(({ path }) => path)
  const others = differences.length - named.length
  return `it differs in ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`
}

/** The refusal of a call whose recording somebody has edited into something else. */
export const unreadable = (cassette: string, file: string): GatewayError =>
  notFound(`The file ${file} of the cassette ${cassette} is no recording. Repair or delete it.`, {
    type,
    details: { cassette, file },
  })

import type { ModelRequest } from '#kernel'
import { alphabet, codeLength } from './vault.ts'

/** Codes that are looked for one by one. For more than that, what a text may have is noted first. */
const few = 50
const bits = 24

/** Whether a code stands in what a call says; asked once for each value, of which a text may have tens of thousands. */
export function takenIn({ request }: { readonly request: ModelRequest }): (code: string) => boolean {
  let said: string | undefined
  let noted: Uint8Array | undefined
  let asked = 0
  return (code) => {
    said ??= JSON.stringify(request).toUpperCase()
    asked += 1
    if (asked > few) {
      noted ??= codesOf(said)
      const place = placeOf(
        [...code].reduce((sum, sign) => sum * alphabet.length + alphabet.indexOf(sign), 0),
      )
      if ((noted[place >> 3]! & (1 << (place & 7))) === 0) return false
    }
    return said.includes(code)
  }
}

/** The places of all codes that stand in a text, as bits. Other codes may have the same ones. */
function codesOf(text: string): Uint8Array {
  const noted = new Uint8Array(2 ** bits / 8)
  const rest = alphabet.length ** (codeLength - 1)
  const digits = new Int8Array(128).fill(-1)
  for (const [digit, sign] of [...alphabet].entries()) digits[sign.charCodeAt(0)] = digit
  let number = 0
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const digit = digits[text.charCodeAt(at)] ?? -1
    length = digit < 0 ? 0 : length + 1
    number = digit < 0 ? 0 : (number % rest) * alphabet.length + digit
    if (length < codeLength) continue
    const place = placeOf(number)
    noted[place >> 3]! |= 1 << (place & 7)
  }
  return noted
}

const placeOf = (number: number): number => Math.imul(number, 0x9e3779b1) >>> (32 - bits)

/** Luhn's check digit, ISO/IEC 7812. */
export function isLuhn(text: string): boolean {
  let sum = 0
  for (const [n, digit] of digitsOf(text).reverse().entries()) {
    sum += n % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

/** A payment card's number: the check digit, and not the same digit all over. */
export const isCard = (text: string): boolean => isLuhn(text) && new Set(digitsOf(text)).size > 1

/** The check digits of ISO 13616: the number, letters as 10 to 35 and head moved to the end, is 1 modulo 97. */
export function isIban(text: string): boolean {
  const plain = text.replaceAll(' ', '')
  if (plain.length < 15 || plain.length > 34) return false
  let rest = 0
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const digitsOf = (text: string): number[] => Array.from(text.replace(/\D/g, ''), Number)

/** A text as quotations are compared: without case, punctuation and marks, its words apart by one space. */
export const bareWords = (text: string): string =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

/** Addresses of a text, with what is no part of them cut off. */
export function addressesIn(text: string): { start: number; end: number; address: string }[] {
  return [...text.matchAll(/\bhttps?:\/\/[^\s<>"'`\])}|\\^]+/gi)].map((match) => {
    const address = match[0].replace(/[.,;:!?*_]+$/, '')
    return { start: match.index, end: match.index + address.length, address }
  })
}

/** An address as it is compared: without what does not change where it leads. */
export function sameAddress(address: string): string {
  if (!URL.canParse(address)) return address
  const { hostname, port, pathname, search } = new URL(address)
  return `${hostname.replace(/^www\./, '')}:${port}${pathname.replace(/\/$/, '')}${search}`
}

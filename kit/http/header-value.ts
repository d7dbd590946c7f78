/** A text as a header can carry it: what it cannot is left out. */
export const headerValue = (text: string): string => text.replace(/[^\t\x20-\x7e]/g, '')

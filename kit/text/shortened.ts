/** A text of a message for people: of one that is too long to be read, the beginning. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text

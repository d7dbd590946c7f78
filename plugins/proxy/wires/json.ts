/** Whether a text is JSON, as arguments of a call that came whole are. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

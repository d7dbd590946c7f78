import { JsonText } from '../streams/written.ts'

/** A text of JSON as detectors read it, with the escapes of its strings decoded. */
export function jsonText(json: string): string {
  const written = new JsonText()
  written.add(json)
  written.close()
  return written.text
}

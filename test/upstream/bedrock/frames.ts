import { EventStreamCodec } from '@smithy/core/event-streams'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

type Headers = Readonly<Record<string, string>>

/** One message of AWS's event stream, made by AWS's own library. */
export function frame(headers: Headers, payload: object = {}): Uint8Array {
  const named = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }])
  return codec.encode({
    headers: Object.fromEntries(named),
    body: Buffer.from(JSON.stringify(payload)),
  })
}

export const eventFrame = (name: string, payload: object): Uint8Array =>
  frame(
    { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    // The service pads payloads, so that their lengths tell nothing.
    { ...payload, p: 'abcdefghij'.slice(0, name.length % 10) },
  )

export const exceptionFrame = (name: string, payload: object): Uint8Array =>
  frame(
    { ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' },
    payload,
  )

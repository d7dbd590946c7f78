import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ResponseReader } from './response.ts'

interface Read {
  status: number
  body: string
  keepAlive: boolean
}

function read(pieces: readonly Buffer[]): Read[] {
  const responses: Read[] = []
  let body = ''
  const reader = new ResponseReader({
    body: (bytes) => {
      body += bytes.toString()
    },
    end: (status, keepAlive) => {
      responses.push({ status, body, keepAlive })
      body = ''
    },
  })
  for (const piece of pieces) reader.push(piece)
  return responses
}

const wire = Buffer.from(
  [
    'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nb;x=1\r\n to the all\r\n0\r\n\r\n',
    'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbusy',
  ].join(''),
)

const expected: Read[] = [
  { status: 200, body: 'hello', keepAlive: true },
  { status: 200, body: 'hello to the all', keepAlive: true },
  { status: 204, body: '', keepAlive: true },
  { status: 503, body: 'busy', keepAlive: false },
]

test('responses on one connection are read however their bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: wire.length })), (cuts) => {
      const bounds = [0, ...cuts.sort((a, b) => a - b), wire.length]
      const pieces = bounds.slice(1).map((end, index) => wire.subarray(bounds[index], end))
      expect(read(pieces)).toEqual(expected)
    }),
  )
})

test('a response whose end cannot be known is an error', () => {
  expect(() => read([Buffer.from('HTTP/1.1 200 OK\r\nx: y\r\n\r\n')])).toThrow('without a length')
})

import { connect } from 'node:net'
import { RequestTemplate } from './request.ts'
import { ResponseReader } from './response.ts'
import { CHAT_PATH, type Target } from './target.ts'

/** Milliseconds from the first packet to the last byte, for each of so many connections opened at one moment. */
export async function burst(target: Target, connections: number): Promise<number[]> {
  const template = RequestTemplate.build(CHAT_PATH, target.headers)
  return Promise.all(Array.from({ length: connections }, (_, serial) => call(target.port, template, serial)))
}

function call(port: number, template: RequestTemplate, serial: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const reader = new ResponseReader({
      body() {},
      end(status) {
        socket.destroy()
        if (status === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`a cold call was answered with ${status}`))
      },
    })
    socket.on('connect', () => socket.write(template.copy().write(serial)))
    socket.on('data', (data: Buffer) => reader.push(data))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('a cold connection was closed without an answer')))
  })
}

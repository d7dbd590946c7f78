import { connect } from 'node:net'
import { RequestTemplate } from './request.ts'
import { ResponseReader } from './response.ts'
import { callOf, type Target } from './target.ts'

export interface BurstResult {
  /** Milliseconds from opening to the last byte, of the calls that were answered with 200. */
  readonly times: readonly number[]
  /** Calls that were answered otherwise, or not at all. */
  readonly failed: number
}

/** Opens so many connections at one moment, for one call each. */
export async function burst(target: Target, connections: number): Promise<BurstResult> {
  const template = RequestTemplate.build(callOf(target), target.headers)
  const calls = Array.from({ length: connections }, (_, serial) => call(target.port, template, serial))
  const settled = await Promise.allSettled(calls)
  const times = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  return { times, failed: settled.length - times.length }
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

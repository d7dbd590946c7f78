import { type Choice, type Chunk, type Filter, type GatewayError, isGatewayError, type Out } from '#kernel'
import { Assembler } from '#kit'

/**
 * Lets a stream pass as it comes, and shows `check` each answer in it that has ended before the chunk goes on that ends
 * it. The error that `check` gives is then the end instead.
 */
export function watching(check: (choice: Choice) => GatewayError | undefined): Filter {
  const assembler = new Assembler()
  return {
    push(chunk: Chunk, out: Out) {
      const { data } = chunk
      assembler.add(data)
      const ended = new Set(
        data.choices.filter(({ finish_reason }) => finish_reason).map(({ index }) => index),
      )
      const choices = ended.size > 0 ? (assembler.completion().choices ?? []) : []
      const error = choices
        .filter(({ index }) => ended.has(index))
        .map(check)
        .find(isGatewayError)
      if (error) out.fail(error)
      else out.emit(chunk)
    },
  }
}

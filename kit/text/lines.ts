const lineFeed = 10

/**
 * The lines of some bytes without their ends, the last one also where its end is missing. They end at line feeds alone: JSON has
 * other separators, such as U+2028, in its texts. One line at a time is in memory.
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let begun: Uint8Array[] = []
  for await (const some of bytes) {
    let from = 0
    for (let end = some.indexOf(lineFeed); end !== -1; end = some.indexOf(lineFeed, from)) {
      yield Buffer.concat([...begun, some.subarray(from, end)])
      begun = []
      from = end + 1
    }
    if (from < some.length) begun.push(some.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

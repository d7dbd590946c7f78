import type { Detection, Span } from 'switchyard'

/** At most ten letters, a dash, six digits, and one character to see that no seventh follows. */
const reach = 18

/** Finds numbers such as `OPS-1234`, in streams as well. */
export function ticketDetection(replacement: string): Detection {
  return {
    reach,
    context: 1,
    scan(text, _place, _call, from) {
      const ticket = /(?<![A-Za-z0-9])[A-Z]{2,10}-\d{1,6}(?!\d)/g
      ticket.lastIndex = from
      const spans: Span[] = []
      for (let match = ticket.exec(text); match; match = ticket.exec(text)) {
        spans.push({
          start: match.index,
          end: ticket.lastIndex,
          label: 'ticket',
          action: 'replace',
          replacement,
        })
      }
      return spans
    },
  }
}

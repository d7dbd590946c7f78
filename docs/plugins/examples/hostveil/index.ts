import { defineModule, type Span } from 'switchyard'
import { z } from 'zod'

export default defineModule({
  settings: z.strictObject({
    replacement: z.string().default('[host]').meta({
      title: 'Replacement',
      description: 'What stands in place of a name.',
    }),
  }),

  setup({ settings: { replacement } }) {
    return {
      detect: {
        reply: {
          // A label of 63 characters, the domain, and one character that shows where the name ends.
          reach: 63 + '.corp.internal'.length + 1,
          context: 1,
          scan(text, _place, _call, from) {
            const host = /(?<![a-z0-9-])[a-z0-9-]{1,63}\.corp\.internal(?![a-z0-9-])/g
            host.lastIndex = from
            const spans: Span[] = []
            for (let match = host.exec(text); match; match = host.exec(text)) {
              const { index } = match
              spans.push({ start: index, end: host.lastIndex, label: 'host', action: 'replace', replacement })
            }
            return spans
          },
        },
      },
    }
  },
})

import { z } from 'zod'
import { defineArea } from '#kernel'
import { Changes } from './changes.ts'
import { Optimizer } from './optimizer.ts'
import { addOptimizeRoutes } from './routes.ts'
import { Turn } from './turn.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const changes = new Changes(context)
    const optimizer = new Optimizer(context, changes)
    addOptimizeRoutes(context, { optimizer, changes, turn: new Turn(context) })
  },
})

import { describe } from 'vitest'
import { storeConformance } from './conformance.ts'
import { openLevel } from './level.ts'

describe('the level engine', () => {
  storeConformance(openLevel)
})

describe('the level engine with small blocks', () => {
  storeConformance((folder) => openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 16 } }))
})

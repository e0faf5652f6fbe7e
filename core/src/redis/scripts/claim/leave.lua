return ended(lapse)

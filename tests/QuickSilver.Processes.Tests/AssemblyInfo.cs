// Each scenario wants both processors of a small machine: side by side they would measure each other.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

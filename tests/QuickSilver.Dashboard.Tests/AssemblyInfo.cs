// A browser and a cluster want both processors of a small machine.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace QuickSilver.Multicast.Nodes;

// Something that waits, and its progress so far.
internal readonly record struct Wait(object Of, long Progress);

namespace QuickSilver.Diagnostics;

// What the meter tells of a topic, or of those that have no series of their own.
internal readonly record struct TopicCounts(string Name, long Published, long Delivered, long Lost, long Waiting);

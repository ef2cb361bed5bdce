namespace QuickSilver.Diagnostics;

// What the meter reports of a topic, or of all topics without a series.
internal readonly record struct TopicCounts(string Name, long Published, long Delivered, long Lost, long Waiting);

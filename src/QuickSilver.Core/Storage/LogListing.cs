using System.Collections.Immutable;

namespace QuickSilver.Core.Storage;

/// <summary>A log that is in the storage directory.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Bytes">The length of its file. Of a log that is open with preallocation, this is more than its length.</param>
internal readonly record struct LogEntry(string Name, long Bytes);

/// <summary>The logs of a node, in the order of their names, or why they could not be listed.</summary>
internal readonly record struct LogListing(ImmutableArray<LogEntry> Logs, LogException? Failure);

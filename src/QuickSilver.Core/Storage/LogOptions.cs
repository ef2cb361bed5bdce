namespace QuickSilver.Core.Storage;

// What a log is opened with.
internal sealed record LogOptions
{
    /// <summary>The longest name. A file system allows 255 bytes; the rest is room for an ending.</summary>
    public const int MaxNameLength = 100;

    /// <summary>The least that one write may gather: below a page, each append would be a write.</summary>
    public const int MinBlockBytes = 4096;

    /// <summary>The most that one write may gather. Disks are at their full rate far below.</summary>
    public const int MaxBlockBytes = 16 << 20;

    /// <summary>The most that is preallocated at a time: the write that comes to the end waits for it.</summary>
    public const int MaxPreallocatedBytes = 64 << 20;

    /// <summary>
    /// The log's name in its storage directory: 1 to 100 of a-z, 0-9, '-', '_' and '.', the first a letter or digit. No upper case,
    /// because some file systems do not distinguish it.
    /// </summary>
    public required string Name { get; init; }

    /// <summary>
    /// The length beyond which appends are answered with <see cref="LogOutcome.Full"/>. Without a limit (default) a log grows until the
    /// disk is full, and then fails.
    /// </summary>
    public long MaxBytes { get; init; } = long.MaxValue;

    /// <summary>
    /// How many bytes of appends wait while as many are being written: the log's queue, and the longest append. Two blocks of this size
    /// are allocated with the first append. Default 256 KiB.
    /// </summary>
    public int BlockBytes { get; init; } = 256 << 10;

    /// <summary>
    /// By how many bytes the file is made longer in advance, with zeros, whenever a write comes to its end: 0 (default: not at all), or
    /// 4096 to 64 MiB. A sync into a file that is long enough takes a fraction of the time on most systems, but each byte is written twice.
    /// After the end of the process or a loss of power, zeros may be left behind the log's end, and the log is longer by them when it is
    /// opened.
    /// </summary>
    public int PreallocatedBytes { get; init; }

    /// <summary>Whether a text may be the name of a log.</summary>
    public static bool IsName(string name) =>
        name is { Length: > 0 and <= MaxNameLength }
        && (char.IsAsciiLetterLower(name[0]) || char.IsAsciiDigit(name[0]))
        && name.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c) || c is '-' or '_' or '.');

    /// <summary>Refuses a text that is not the name of a log.</summary>
    /// <exception cref="ArgumentException">It is none; the message has the rule.</exception>
    public static void CheckName(string name)
    {
        if (!IsName(name))
        {
            throw new ArgumentException(
                $"'{name}' is not a valid log name. Use 1 to {MaxNameLength} characters of a-z, 0-9, '-', '_' and '.', "
                + "and start with a letter or digit.");
        }
    }

    /// <exception cref="ArgumentException">An option is wrong; the message names it.</exception>
    public void Check()
    {
        CheckName(Name);
        if (MaxBytes < 0)
        {
            throw new ArgumentException($"{nameof(MaxBytes)} of log '{Name}' is {MaxBytes}. It must not be negative.");
        }

        if (BlockBytes is < MinBlockBytes or > MaxBlockBytes)
        {
            throw new ArgumentException(
                $"{nameof(BlockBytes)} of log '{Name}' is {BlockBytes}. It must be {MinBlockBytes} to {MaxBlockBytes}.");
        }

        if (PreallocatedBytes is not 0 and (< MinBlockBytes or > MaxPreallocatedBytes))
        {
            throw new ArgumentException(
                $"{nameof(PreallocatedBytes)} of log '{Name}' is {PreallocatedBytes}. It must be 0, or {MinBlockBytes} to "
                + $"{MaxPreallocatedBytes}.");
        }
    }
}

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

    /// <exception cref="ArgumentException">An option is wrong; the message names it.</exception>
    public void Check()
    {
        if (!IsName(Name))
        {
            throw new ArgumentException(
                $"'{Name}' is not a valid log name. Use 1 to {MaxNameLength} characters of a-z, 0-9, '-', '_' and '.', "
                + "and start with a letter or digit.");
        }

        if (MaxBytes < 0)
        {
            throw new ArgumentException($"{nameof(MaxBytes)} of log '{Name}' is {MaxBytes}. It must not be negative.");
        }

        if (BlockBytes is < MinBlockBytes or > MaxBlockBytes)
        {
            throw new ArgumentException(
                $"{nameof(BlockBytes)} of log '{Name}' is {BlockBytes}. It must be {MinBlockBytes} to {MaxBlockBytes}.");
        }
    }

    private static bool IsName(string name) =>
        name is { Length: > 0 and <= MaxNameLength }
        && (char.IsAsciiLetterLower(name[0]) || char.IsAsciiDigit(name[0]))
        && name.All(static c => char.IsAsciiLetterLower(c) || char.IsAsciiDigit(c) || c is '-' or '_' or '.');
}

using System.Buffers;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;

namespace QuickSilver.Tool.Lines;

// Splits a stream of bytes at '\n' and nowhere else: carriage returns, empty lines, bytes that are no text and a last
// line without an end come out as they went in.
internal static class LineReader
{
    // A message's limit: what is longer could not be published, and must not fill the memory before that is said.
    public const int MaxLineBytes = 16 << 20;

    private const int ChunkBytes = 64 << 10;

    /// <summary>The lines without their ends. Each is valid until the next is asked for.</summary>
    public static async IAsyncEnumerable<ReadOnlyMemory<byte>> ReadAsync(
        Stream stream, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        PipeReader reader = PipeReader.Create(stream, new StreamPipeReaderOptions(bufferSize: ChunkBytes, leaveOpen: true));
        while (true)
        {
            // A blocked read of standard input cannot be cancelled, so the wait for it is.
            ReadResult result = await reader.ReadAsync(cancellationToken).AsTask().WaitAsync(cancellationToken);
            ReadOnlySequence<byte> rest = result.Buffer;
            while (rest.PositionOf((byte)'\n') is SequencePosition end)
            {
                yield return Contiguous(rest.Slice(0, end));
                rest = rest.Slice(rest.GetPosition(1, end));
            }

            if (rest.Length > MaxLineBytes)
            {
                throw new MessageTooLargeException(rest.Length, MaxLineBytes);
            }

            if (result.IsCompleted)
            {
                if (!rest.IsEmpty)
                {
                    yield return Contiguous(rest);
                }

                await reader.CompleteAsync();
                yield break;
            }

            // All of it was looked at, and the start of an unfinished line is kept.
            reader.AdvanceTo(rest.Start, rest.End);
        }
    }

    private static ReadOnlyMemory<byte> Contiguous(in ReadOnlySequence<byte> line) => line.IsSingleSegment ? line.First : line.ToArray();
}

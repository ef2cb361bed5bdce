using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Tests.Infrastructure;

// Payloads of so many bytes. The value Held stays within its encoding until the test lets it on.
internal sealed class HeldCodec(int bytes) : IPayloadCodec<int>
{
    public const int Held = 1;

    public TaskCompletionSource IsWriting { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ManualResetEventSlim GoesOn { get; } = new();

    public PayloadSchema Schema { get; } = SchemaOfBytes();

    public int GetSize(in int value) => bytes;

    public int Write(in int value, Span<byte> destination)
    {
        if (value == Held)
        {
            IsWriting.TrySetResult();
            GoesOn.Wait();
        }

        return bytes;
    }

    public int Read(ReadOnlySpan<byte> source) => 0;

    private static PayloadSchema SchemaOfBytes()
    {
        Assert.True(GeneratedCodecs.TryGet<byte[]>(out var codec));
        return codec.Schema;
    }
}

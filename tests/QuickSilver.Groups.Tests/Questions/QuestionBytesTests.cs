using System.Text;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tests.Questions;

// The bytes of questions and answers.
public sealed class QuestionBytesTests
{
    private readonly Random _random = new(7);

    [Fact]
    public void Heads_of_questions_and_answers_are_read_as_they_were_written()
    {
        for (int i = 0; i < 1_000; i++)
        {
            var question = new QuestionHead(_random.NextInt64(), (ushort)_random.Next(1 << 16));
            byte[] bytes = new byte[QuestionHead.Bytes];
            question.Write(bytes);
            Assert.True(QuestionHead.TryRead(bytes, out var read));
            Assert.Equal(question, read);

            ulong topic = (ulong)_random.NextInt64();
            string text = new('x', _random.Next(100));
            byte[] letter = ReplyBody.Answer(topic, question.Id, text, new Text());
            Assert.True(ReplyBody.TryRead(letter, out var answer));
            Assert.Equal(new ReplyHead(topic, question.Id, false, ReplyBody.TypeOf(new Text().Schema)), answer);
            Assert.Equal(text, new Text().Read(letter.AsSpan(ReplyBody.HeaderBytes)));

            Assert.True(ReplyBody.TryRead(ReplyBody.Decline(topic, question.Id), out answer));
            Assert.Equal(new ReplyHead(topic, question.Id, true, 0), answer);
        }
    }

    [Fact]
    public void Heads_that_are_cut_or_unknown_are_not_read()
    {
        for (int length = 0; length < QuestionHead.Bytes; length++)
        {
            Assert.False(QuestionHead.TryRead(new byte[length], out _));
        }

        byte[] letter = ReplyBody.Decline(topic: 1, id: 2);
        for (int length = 0; length < letter.Length; length++)
        {
            Assert.False(ReplyBody.TryRead(letter.AsSpan(0, length), out _));
        }

        letter[16] = 2;
        Assert.False(ReplyBody.TryRead(letter, out _));
    }

    [Fact]
    public void A_question_has_the_kind_of_its_order_and_no_other_kind_is_a_question()
    {
        for (int first = 0; first <= byte.MaxValue; first++)
        {
            var frame = GroupFrames.Of([(byte)first]);
            Assert.Equal(first is <= 6 or (>= 0x80 and <= 0x83), frame is not null);
            if (frame is { } kind)
            {
                Assert.Equal((byte)first, GroupFrames.ByteOf(kind, GroupFrames.IsQuestion([(byte)first])));
            }
        }
    }

    [Fact]
    public void An_answer_that_is_too_large_for_a_message_is_refused()
    {
        string large = new('x', Multicast.MulticastOptions.MaxMessageBytes);
        Assert.Throws<MessageTooLargeException>(() => ReplyBody.Answer(topic: 1, id: 2, large, new Text()));
    }

    private sealed class Text : IPayloadCodec<string>
    {
        public PayloadSchema Schema { get; } = new("text", "text", []);

        public int GetSize(in string value) => Encoding.UTF8.GetByteCount(value);

        public int Write(in string value, Span<byte> destination) => Encoding.UTF8.GetBytes(value, destination);

        public string Read(ReadOnlySpan<byte> source) => Encoding.UTF8.GetString(source);
    }
}
